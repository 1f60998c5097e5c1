/** Carriers that are never on together: those of different acts, for instance. */

import type { Carrier, GroupName } from './carrier.ts'

/** Lists of groups that exclude each other. */
export type NeverOnTogether = readonly (readonly GroupName[])[]

type Groups = Carrier['groups']

/**
 * Two carriers exclude each other if both have groups, and every group of one excludes every group of the other. Lists
 * of groups have numbers, so that searches can compare them fast.
 */
export class Exclusions {
  readonly #numbers = new Map<Groups, number>()
  readonly #count: number
  readonly #excluded: Uint8Array
  readonly isEmpty: boolean

  constructor(neverOnTogether: NeverOnTogether, carriers: readonly Pick<Carrier, 'groups'>[]) {
    const excludedBy = indexGroups(neverOnTogether)
    const known = new Map<string, number>()
    const lists: Groups[] = [[]]
    for (const { groups } of carriers) {
      if (this.#numbers.has(groups) || groups.length === 0) continue
      // Other groups make a carrier compatible with all.
      if (!groups.every((group) => excludedBy.has(group))) continue
      const key = JSON.stringify([...groups].sort())
      const number = known.get(key) ?? lists.push(groups) - 1
      known.set(key, number)
      this.#numbers.set(groups, number)
    }
    this.#count = lists.length
    this.#excluded = new Uint8Array(this.#count ** 2)
    const exclude = (a: Groups, b: Groups) =>
      a.length > 0 && b.length > 0 && a.every((group) => b.every((other) => excludedBy.get(group)?.has(other)))
    for (let a = 1; a < this.#count; a++) {
      for (let b = 1; b < a; b++) {
        if (!exclude(lists[a] as Groups, lists[b] as Groups)) continue
        this.#excluded[a * this.#count + b] = 1
        this.#excluded[b * this.#count + a] = 1
      }
    }
    this.isEmpty = !this.#excluded.includes(1)
  }

  /** Carriers have the number of their groups, as they were given to the constructor; 0 excludes no carrier. */
  numberOf({ groups }: Pick<Carrier, 'groups'>): number {
    return this.#numbers.get(groups) ?? 0
  }

  exclude(numberA: number, numberB: number): boolean {
    return this.#excluded[numberA * this.#count + numberB] === 1
  }

  areExclusive(a: Pick<Carrier, 'groups'>, b: Pick<Carrier, 'groups'>): boolean {
    return !this.isEmpty && this.exclude(this.numberOf(a), this.numberOf(b))
  }
}

export const noExclusions = new Exclusions([], [])

function indexGroups(neverOnTogether: NeverOnTogether): ReadonlyMap<GroupName, ReadonlySet<GroupName>> {
  const excludedBy = new Map<GroupName, Set<GroupName>>()
  for (const groups of neverOnTogether) {
    for (const group of groups) {
      const others = excludedBy.get(group) ?? new Set<GroupName>()
      excludedBy.set(group, others)
      for (const other of groups) if (other !== group) others.add(other)
    }
  }
  return excludedBy
}
