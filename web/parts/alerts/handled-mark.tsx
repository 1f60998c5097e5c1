/** Marks a channel whose alerts were all acknowledged, snoozed or silenced, with the name of the user. */

import { BellOff, CheckCheck, Clock, type LucideIcon, MicOff } from 'lucide-react'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { isMutedOnPurpose } from '../../../src/domain/alerts/alert.ts'
import { findSilence } from '../../../src/domain/alerts/silences.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useWatchState } from '../../app/context.ts'
import { formatMoment } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { WatchState } from '../../app/watch-state.ts'
import { personName, snoozeText } from './alert-text.ts'
import { isUnhandled, useChannelAlert } from './alerts.ts'

export function HandledMark({ facts }: { facts: ChannelFacts }) {
  const { receiverId, channelId, slot } = facts
  const alert = useChannelAlert(receiverId, channelId)
  const silence = useWatchState((watchState) =>
    alert?.silenced ? silenceOf(watchState, alert, channelId, slot) : null,
  )
  if (alert === null || isUnhandled(alert)) return null
  const [Icon, by, text] = describe(alert, silence)
  return (
    <span className="handled-mark" title={text}>
      <Icon className="icon" aria-hidden="true" />
      <bdi className="handled-by" aria-hidden="true">
        {by}
      </bdi>
      <span className="visually-hidden">{text}</span>
    </span>
  )
}

function silenceOf({ silences, groups }: WatchState, { kind }: AlertBody, id: number, slot: number) {
  return findSilence(kind, [{ id, slot }], { silences, groups }) ?? null
}

type Silence = WatchState['silences'][number] | null

function describe(alert: AlertBody, silence: Silence): [icon: LucideIcon, by: string, text: string] {
  const { acknowledged_by, snoozed_by, snoozed_until } = alert
  if (acknowledged_by !== null) {
    const name = personName(acknowledged_by)
    return [CheckCheck, name, t('alerts.acknowledgedBy', { name })]
  }
  if (snoozed_until !== null) {
    const icon = isMutedOnPurpose(alert) ? MicOff : Clock
    return [icon, personName(snoozed_by ?? ''), snoozeText(alert, snoozed_until)]
  }
  if (silence === null) return [BellOff, '', t('alerts.silenced')]
  const name = personName(silence.by)
  return [BellOff, name, t('alerts.silencedBy', { name, until: formatMoment(silence.until) })]
}
