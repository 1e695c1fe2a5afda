import { fetchBerths } from "./client";

export function showBerths(table: HTMLElement): void {
  fetchBerths().then((berths) => table.replaceChildren(...berths.map(String)));
}
