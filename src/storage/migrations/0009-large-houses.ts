/** Indexes for log queries in installations with thousands of receivers. */
export const name = '0009-large-houses'

export function statements(): readonly string[] {
  return ['create index audit_action on audit (action)', 'create index alerts_receiver_id on alerts (receiver_id)']
}
