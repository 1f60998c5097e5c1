/** The id of the request that caused an audit record. */
export const name = '0008-audit-requests'

export function statements(): readonly string[] {
  return ['alter table audit add column request_id text']
}
