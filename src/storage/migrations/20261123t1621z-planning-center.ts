/** Planning Center: the token, and for each service type the slots of its positions and the plan that was loaded last. */
export const name = '20261123T1621Z-planning-center'

export function statements(): readonly string[] {
  return [
    'create table planning_center_token (id bigint primary key, sealed text not null)',
    `create table planning_center_services (
      service_type text primary key,
      name text not null,
      positions text not null,
      plan text,
      loaded_at bigint
    )`,
  ]
}
