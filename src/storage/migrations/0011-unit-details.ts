/** Transmitter details beyond the battery percentage. */
export const name = '0011-unit-details'

export function statements(): readonly string[] {
  return ['alter table units add column details text']
}
