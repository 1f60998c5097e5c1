/** Faults that a receiver reports about itself. */
export const name = '0012-receiver-faults'

export function statements(): readonly string[] {
  return ['alter table receivers add column fault text']
}
