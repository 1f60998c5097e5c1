/**
 * A counter of stored readings for each manufacturer, so that the transactions of different manufacturers do not wait for
 * each other. Conditions are marked with it, too; those that are stored get a value that precedes all others.
 */
export const name = '20261126T2030Z-reading-counters'

export function statements(): readonly string[] {
  return [
    'alter table receivers add column reading_revision bigint not null default 0',
    'create index receivers_reading_revision on receivers (manufacturer, reading_revision)',
    'update channel_conditions set revision = 0',
    `insert into meta (key, value) select 'readings:' || manufacturer, 0 from receivers group by manufacturer`,
  ]
}
