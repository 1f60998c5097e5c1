/** How often a source's poll cycles exceeded their interval, and problems in its responses. */
export const name = '0007-warnings'

export function statements(): readonly string[] {
  return [
    'alter table sources add column overruns bigint not null default 0',
    'alter table sources add column warning text',
  ]
}
