/** The values of the database's counters that announce changes of receivers; see `storage/revision.ts`. */
export interface Revisions {
  readonly revision: number
  /** The counters of readings, by manufacturer. */
  readonly readings: ReadonlyMap<string, number>
}
