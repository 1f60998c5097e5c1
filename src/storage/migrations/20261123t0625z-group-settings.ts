/** Settings of groups. */
export const name = '20261123T0625Z-group-settings'

export function statements(): readonly string[] {
  return [
    `create table group_settings (
      group_id bigint not null references groups (id) on delete cascade,
      key text not null,
      value text not null,
      primary key (group_id, key)
    )`,
  ]
}
