/** What may go wrong with the database, as far as callers tell it apart. Messages hold no secrets. */

/** Somebody else held the database for too long; the same call may succeed later. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError'
}

/** The database cannot be reached, does not answer, or cannot be written. */
export class StoreDownError extends Error {
  override readonly name = 'StoreDownError'
}

/** The database was made by a newer program. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'
}
