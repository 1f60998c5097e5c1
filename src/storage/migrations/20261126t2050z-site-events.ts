/** Events that another installation has recorded. */
export const name = '20261126T2050Z-site-events'

export function statements(): readonly string[] {
  return [
    'alter table events add column site text',
    'alter table events add column site_name text',
    'create index events_site on events (site, time, id) where site is not null',
  ]
}
