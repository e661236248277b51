// Who the selected box is, whom it meets, and why not others.

import { block } from "./dom";
import type { Inspected } from "./protocol";

const round = (value: number): string => Number(value.toPrecision(5)).toString();

export function showInspected(
  about: Inspected | string | null,
  choose: (slot: number) => void,
): void {
  const place = block("inspector");
  if (about === null) return place.replaceChildren("Click a box, or give its number.");
  if (typeof about === "string") return place.replaceChildren(about);
  const { filter } = about;
  const groups = filter.membership === 0xffffffff && filter.mask === 0xffffffff;
  const kind = [
    filter.still ? "still" : "moving",
    groups
      ? "all groups"
      : `groups ${filter.membership.toString(16)}, meets ${filter.mask.toString(16)}`,
    ...(filter.owner ? [`owner ${filter.owner}`] : []),
    ...(about.shape ? [about.shape] : []),
  ];
  const title = document.createElement("p");
  title.innerHTML = "<strong></strong>";
  title.firstElementChild?.append(`Box ${about.id}`);
  title.append(`: ${kind.join(", ")}`);
  const bounds = document.createElement("p");
  bounds.textContent = `${about.min.map(round).join(", ")} to ${about.max.map(round).join(", ")}`;
  const meets = document.createElement("p");
  meets.textContent =
    ["Overlaps no box.", "Overlaps 1 box:"][about.partner_count] ??
    `Overlaps ${about.partner_count} boxes:`;
  const partners = about.partners.map(({ slot, overlap }) =>
    entry(slot, `by ${overlap.map(round).join(" × ")}`, choose),
  );
  const apart = about.apart.map(({ slot, why }) => entry(slot, why, choose));
  const near = document.createElement("p");
  near.textContent = "Near, but no pair:";
  place.replaceChildren(
    title,
    bounds,
    meets,
    list("partners", partners),
    near,
    list("apart", apart),
  );
}

function entry(slot: number, text: string, choose: (slot: number) => void): HTMLElement {
  const item = document.createElement("li");
  const link = document.createElement("button");
  link.className = "link";
  link.textContent = String(slot);
  link.dataset["slot"] = String(slot);
  link.onclick = () => choose(slot);
  item.append(link, ` ${text}`);
  return item;
}

function list(id: string, items: HTMLElement[]): HTMLElement {
  const place = document.createElement("ul");
  place.id = id;
  place.replaceChildren(...items);
  return place;
}
