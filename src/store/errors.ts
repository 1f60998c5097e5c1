/** What may go wrong with the database, as far as callers tell it apart. Messages hold no secrets. */

/** Somebody else held the database for too long; the same call may succeed later. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError'
}

/** What was to be written rests on a right or a picture that is out of date by now; it is not written. */
export class StaleWriteError extends Error {
  override readonly name: string = 'StaleWriteError'
}

/** The database cannot be reached, does not answer, or cannot be written. */
export class StoreDownError extends Error {
  override readonly name: string = 'StoreDownError'
}

/** What the database's file holds is not what was written there; nothing is written to it any more. */
export class StoreDamagedError extends StoreDownError {
  override readonly name = 'StoreDamagedError'
}

/** The database was made by a newer program. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'
}
