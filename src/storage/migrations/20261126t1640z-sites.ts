/** Receivers that another installation monitors. */
export const name = '20261126T1640Z-sites'

export function statements(): readonly string[] {
  return ['alter table receivers add column origin text']
}
