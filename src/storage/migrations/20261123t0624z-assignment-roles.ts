/** The role that a performer plays with an assigned unit. */
export const name = '20261123T0624Z-assignment-roles'

export function statements(): readonly string[] {
  return ['alter table assignments add column role text']
}
