/** The address and model of devices that a scan found directly. */
export const name = '0010-found-devices'

export function statements(): readonly string[] {
  return ['alter table discovered add column model text', 'alter table discovered add column address text']
}
