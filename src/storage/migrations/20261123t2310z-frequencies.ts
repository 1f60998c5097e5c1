/** Frequency profiles: those that operators have changed or added, those of channels; and zones. */
export const name = '20261123T2310Z-frequencies'

export function statements(): readonly string[] {
  return [
    `create table frequency_profiles (
      id text primary key,
      change text not null
    )`,
    'alter table channels add column profile text',
    'alter table groups add column zone text',
    'alter table locations add column zone text',
  ]
}
