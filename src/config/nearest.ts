/** Finds the name that a misspelled one probably stands for. */

/** A larger difference is more likely another word than a misspelling. */
const maxDistance = 3

export function findNearest(name: string, candidates: readonly string[]): string | null {
  const [nearest] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    // In a short name, three changes leave nothing in common.
    .filter(({ candidate, distance }) => distance <= Math.min(maxDistance, candidate.length / 2))
    .sort((a, b) => a.distance - b.distance)
  return nearest?.candidate ?? null
}

/** Returns the number of characters to insert, remove or replace. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [index, character] of [...a].entries()) {
    const next = [index + 1]
    for (const [at, other] of [...b].entries()) {
      const replaced = (row[at] ?? 0) + (character === other ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
