/** All operations of the REST interface. */

export * from './accounts.ts'
export * from './administration.ts'
export * from './discovery.ts'
export * from './hardware.ts'
export * from './history.ts'
export * from './imports.ts'
export * from './locations.ts'
export * from './monitoring.ts'
export * from './placeholders.ts'
export * from './shows.ts'
