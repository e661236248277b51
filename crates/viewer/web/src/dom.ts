// Elements of the page by id.

export function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

export const button = (id: string): HTMLButtonElement => element(id, HTMLButtonElement);
export const input = (id: string): HTMLInputElement => element(id, HTMLInputElement);
export const select = (id: string): HTMLSelectElement => element(id, HTMLSelectElement);
export const block = (id: string): HTMLElement => element(id, HTMLElement);

export function options(place: HTMLSelectElement, names: { name: string; about: string }[]): void {
  for (const { name, about } of names) {
    const option = document.createElement("option");
    option.value = option.textContent = name;
    option.title = about;
    place.append(option);
  }
}

// Terms and what they mean, as the children of a `dl`.
export function terms(list: [string, string][]): HTMLElement[] {
  return list.flatMap(([name, value]) => {
    const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
    dt.textContent = name;
    dd.textContent = value;
    return [dt, dd];
  });
}

export function download(name: string, url: string): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = url;
  link.click();
}
