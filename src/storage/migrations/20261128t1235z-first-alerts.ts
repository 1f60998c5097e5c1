/** What an alert was when it was raised. */
export const name = '20261128T1235Z-first-alerts'

export function statements(): readonly string[] {
  return ['alter table alerts add column first text']
}
