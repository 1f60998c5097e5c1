/** Recorded levels that were received from other installations. */
export const name = '20261126T2040Z-followed-levels'

export function statements(dialect: 'sqlite' | 'postgres'): readonly string[] {
  return [
    `create table followed_levels (
      channel_id bigint not null references channels (id) on delete cascade,
      step integer not null,
      start bigint not null,
      until bigint not null,
      kept_at bigint not null,
      levels ${dialect === 'sqlite' ? 'blob' : 'bytea'},
      primary key (channel_id, step, start)
    )`,
    'create index followed_levels_kept_at on followed_levels (kept_at)',
  ]
}
