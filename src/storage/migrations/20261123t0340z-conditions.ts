/** What the evaluation of each channel's condition remembers. */
export const name = '20261123T0340Z-conditions'

export function statements(): readonly string[] {
  return [
    `create table channel_conditions (
      channel_id bigint primary key references channels (id) on delete cascade,
      memory text not null,
      revision bigint not null
    )`,
    'create index channel_conditions_revision on channel_conditions (revision)',
  ]
}
