/** The counter of changes of placeholders. */
export const name = '20261123T1115Z-placeholder-counter'

export function statements(): readonly string[] {
  return ["insert into meta (key, value) values ('placeholders', 0)"]
}
