/** Channels that are tuned to a frequency other than the one in the frequency plan in force. */

import { frequencyOf, type Receiver } from '../equipment/receiver.ts'
import { type FrequencyPlan, plannedIn } from '../frequencies/stored-plan.ts'
import type { Alert } from './alert.ts'
import { toCauseOf } from './channel-alerts.ts'
import type { Cause } from './compare-causes.ts'
import type { AlertEnding } from './describe-alert.ts'

export interface PlanContext {
  /** The plan in force. */
  readonly plan: Pick<FrequencyPlan, 'title' | 'carriers'> | null
  readonly isInhibited: boolean
}

export function listOffPlanCauses(receiver: Receiver, { plan, isInhibited }: PlanContext): readonly Cause[] {
  if (plan === null) return []
  return receiver.channels.flatMap((channel): Cause[] => {
    const [tuned, planned] = [frequencyOf(channel), plannedIn(plan, channel.slot)]
    if (tuned === null || planned === null || tuned === planned) return []
    return [toCauseOf('off_plan', receiver, channel, isInhibited, { tuned, planned, plan: plan.title })]
  })
}

/** While a planned channel has no known frequency, its alert stays open. */
export function offPlanAlertEnding(
  receiver: Receiver,
  { channel_id }: Alert,
  { plan }: PlanContext,
): AlertEnding | null {
  const channel = receiver.channels.find(({ id }) => id === channel_id)
  if (channel === undefined) return 'unmonitored'
  return frequencyOf(channel) === null && plannedIn(plan, channel.slot) !== null ? null : 'resolved'
}
