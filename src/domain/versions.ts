/** Records that people edit. Each edit gives the record a new version. */

export interface Versioned {
  readonly version: number
}

/** A record without the fields that storing it adds. */
export type Unstored<Stored extends Versioned> = Omit<Stored, 'id' | 'version'>

/** Throws a RequestError unless the record has a version that the client expects. Null: there is no such record. */
export type RequireVersion<Stored extends Versioned> = (record: Stored | null, subject: string) => void

/** For edits that expect no version. */
export const anyVersion: RequireVersion<Versioned> = () => {}
