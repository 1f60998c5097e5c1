/** Database errors that callers distinguish. Their messages contain no secrets. */

/** Another process or transaction blocked the database for too long; the same call may succeed later. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError'
}

/** The write was rejected because it is based on a lost lease, a revoked permission or outdated data. */
export class StaleWriteError extends Error {
  override readonly name: string = 'StaleWriteError'
}

/** The database cannot be reached, does not respond, or cannot be written to. */
export class StoreDownError extends Error {
  override readonly name: string = 'StoreDownError'
}

/** The database file is damaged, or was deleted or replaced; all further writes are rejected. */
export class StoreDamagedError extends StoreDownError {
  override readonly name = 'StoreDamagedError'
}

export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'
}
