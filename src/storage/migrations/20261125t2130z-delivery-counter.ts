/** The counter of the changes of notification deliveries. */
export const name = '20261125T2130Z-delivery-counter'

export function statements(): readonly string[] {
  return ["insert into meta (key, value) values ('notification_deliveries', 0)"]
}
