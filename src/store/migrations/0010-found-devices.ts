/** A device that a scan found by itself has an address, and tells its model. */
export const name = '0010-found-devices'

export function statements(): readonly string[] {
  return ['alter table discovered add column model text', 'alter table discovered add column address text']
}
