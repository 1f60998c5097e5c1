/** The discharge of every battery, for forecasts. Rows of removed channels stay, because they say something about batteries. */
export const name = '20261123T1630Z-discharges'

export function statements(): readonly string[] {
  return [
    `create table discharges (
      channel_id bigint not null,
      started_at bigint not null,
      ended_at bigint,
      kind text not null,
      discharge text not null,
      saved_at bigint not null,
      primary key (channel_id, started_at)
    )`,
    'create index discharges_kind on discharges (kind, ended_at)',
    'create index discharges_saved_at on discharges (saved_at)',
  ]
}
