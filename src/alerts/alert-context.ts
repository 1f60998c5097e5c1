import type { AlertKind } from '../contract/alert-kinds.ts'
import type { Alert } from '../domain/alerts/alert.ts'
import type { AlertScope, AlertSettings } from '../domain/alerts/alert-settings.ts'
import { channelsOfAlert, isSilenced, type Silence } from '../domain/alerts/silences.ts'
import { hasRunningShow, isSnoozeOver, lastStartOf } from '../domain/alerts/snooze.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { AlertSurroundings } from '../domain/notifications/surroundings.ts'
import type { RunningShow } from '../domain/shows.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'

export interface AlertContextDeps {
  readonly receiverStore: Pick<ReceiverStore, 'get' | 'facts'>
  alertSettings(kind: AlertKind, scope: AlertScope): AlertSettings
  areSourcesFailing(receiver: Receiver): boolean
  groups(): readonly { readonly id: number; readonly slots: readonly number[] }[]
  silences(): readonly Silence[]
  runningShows(): readonly (RunningShow & { readonly started_at: number | null })[]
  /** Epoch milliseconds. */
  now(): number
}

type AlertSubject = Pick<Alert, 'kind' | 'manufacturer' | 'receiver_id' | 'channel_id' | 'data'>

export class AlertContext {
  readonly #deps: AlertContextDeps

  constructor(deps: AlertContextDeps) {
    this.#deps = deps
  }

  settingsOf(subject: AlertSubject): AlertSettings {
    const slots = this.#channelsOf(subject).map(({ slot }) => slot)
    return this.#deps.alertSettings(subject.kind, { manufacturer: subject.manufacturer, slots })
  }

  isSilenced(alert: Alert): boolean {
    const silences = alert.state === 'cleared' ? [] : this.#deps.silences()
    return silences.length > 0 && isSilenced(alert, this.#channelsOf(alert), { silences, groups: this.#deps.groups() })
  }

  surroundingsOf(alert: Alert): AlertSurroundings {
    const { receiverStore, silences, areSourcesFailing } = this.#deps
    const context = this.#showContext(alert)
    const { groups, channels } = context
    const receiver = alert.receiver_id === null ? undefined : receiverStore.get(alert.receiver_id)
    const isOffline = receiver?.is_active === false && alert.channel_id !== null
    const slots = new Set(channels.map(({ slot }) => slot))
    return {
      isSilenced: isSilenced(alert, channels, { silences: silences(), groups }),
      isInhibited: receiver !== undefined && (isOffline || areSourcesFailing(receiver)),
      groupIds: groups.flatMap((group) => (group.slots.some((slot) => slots.has(slot)) ? group.id : [])),
      showStartedAt: lastStartOf(alert, context),
    }
  }

  hasRunningShow(alert: Alert): boolean {
    return hasRunningShow(alert, this.#showContext(alert))
  }

  isSnoozeOver(alert: Alert): boolean {
    return isSnoozeOver(alert, this.#deps.now(), this.#showContext(alert))
  }

  #channelsOf(subject: Omit<AlertSubject, 'kind' | 'manufacturer'>) {
    const { receiver_id } = subject
    return channelsOfAlert(subject, receiver_id === null ? undefined : this.#deps.receiverStore.facts(receiver_id))
  }

  #showContext(alert: Alert) {
    const { runningShows, groups } = this.#deps
    return { runningShows: runningShows(), groups: groups(), channels: this.#channelsOf(alert) }
  }
}
