/** Which sources have reported each receiver, and the counter of their changes. */
export const name = '20261125T2115Z-receiver-sources'

export function statements(): readonly string[] {
  return [
    `create table receiver_sources (
      receiver_id bigint not null references receivers (id) on delete cascade,
      source text not null,
      primary key (receiver_id, source)
    )`,
    "insert into meta (key, value) values ('receiver_sources', 0)",
  ]
}
