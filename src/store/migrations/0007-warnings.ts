/** How often a source's cycles outlasted their interval, and what of its answers is passed over. */
export const name = '0007-warnings'

export function statements(): readonly string[] {
  return [
    'alter table sources add column overruns bigint not null default 0',
    'alter table sources add column warning text',
  ]
}
