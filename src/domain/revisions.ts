/** The database's counters that announce changes of receivers; see `storage/revision.ts`. */
export interface Revisions {
  readonly revision: number
  /** By manufacturer. */
  readonly readings: ReadonlyMap<string, number>
}
