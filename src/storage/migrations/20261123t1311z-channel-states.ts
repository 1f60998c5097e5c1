/** What was true of each channel besides its levels, whenever it changed. Rows of removed channels stay. */
export const name = '20261123T1311Z-channel-states'

export function statements(): readonly string[] {
  return [
    `create table channel_states (
      channel_id bigint not null,
      time bigint not null,
      state text,
      primary key (channel_id, time)
    )`,
    'create index channel_states_time on channel_states (time)',
  ]
}
