// Keys, and the sheet that lists them.

import { block, element, terms } from "./dom";

export interface Key {
  keys: string[];
  name: string;
  about: string;
  act: () => void;
}

export function installKeys(list: Key[]): void {
  block("keys").replaceChildren(...terms(list.map(({ name, about }) => [name, about])));
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const typing =
      target instanceof HTMLSelectElement ||
      (target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "radio");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (element("help", HTMLDialogElement).open) return;
    // Space presses a button that has the focus.
    if (
      event.key === " " &&
      target instanceof HTMLElement &&
      target.closest("button, summary, input")
    )
      return;
    const found = list.find(({ keys }) => keys.includes(event.key));
    if (!found) return;
    // Arrows scroll the panel unless the stage has the focus.
    if (event.key.startsWith("Arrow") && target !== block("stage") && target !== document.body)
      return;
    event.preventDefault();
    found.act();
  });
}
