/** Alerts that another installation has raised. */
export const name = '20261126T1742Z-site-alerts'

export function statements(): readonly string[] {
  return ['alter table alerts add column site text', 'alter table alerts add column site_name text']
}
