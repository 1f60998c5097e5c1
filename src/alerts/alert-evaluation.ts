import type { BatteryForecasts } from '../conditions/battery-forecasts.ts'
import type { ConditionMonitor } from '../conditions/conditions.ts'
import { type Alert, type AlertChange, isMutedOnPurpose } from '../domain/alerts/alert.ts'
import { withNames } from '../domain/alerts/alert-names.ts'
import { type AudioFaultContext, audioAlertEnding, listAudioCauses } from '../domain/alerts/audio-fault.ts'
import { listReceiverCauses, receiverAlertEnding, toChannelCause } from '../domain/alerts/channel-alerts.ts'
import {
  type Cause,
  type CauseStarts,
  type ComparedCauses,
  compareCauses,
  noStarts,
} from '../domain/alerts/compare-causes.ts'
import { type AlertEnding, describeEnding } from '../domain/alerts/describe-alert.ts'
import { listFaultCauses } from '../domain/alerts/equipment-faults.ts'
import { type ConflictContext, conflictAlertEnding, listConflictCauses } from '../domain/alerts/frequency-conflict.ts'
import { listOffPlanCauses, offPlanAlertEnding } from '../domain/alerts/off-plan.ts'
import { faultSubjects, type ServiceFault, toFaultCause } from '../domain/alerts/service-faults.ts'
import {
  listSourceCauses,
  listSubscriptionCauses,
  type SourceFailures,
  subscriptionSubject,
  upstreamSubject,
} from '../domain/alerts/source.ts'
import { type CarrierContext, carrierAlertEnding, listCarrierCauses } from '../domain/alerts/unknown-carrier.ts'
import { type ForecastContext, forecastAlertEnding, listForecastCauses } from '../domain/alerts/will-not-last.ts'
import { needsMuteAttention } from '../domain/conditions/condition.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import { recordOfSite } from '../domain/equipment/sites.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { UnitStore } from '../ingest/unit-store.ts'
import type { SlotRecords } from '../lists/slot-records.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Connections } from '../sources/connections.ts'
import type { ReceiverSources } from '../sources/receiver-sources.ts'
import type { SourceRegistry } from '../sources/source-registry.ts'
import type { AlertContext } from './alert-context.ts'
import type { AudioFaults } from './audio-faults.ts'
import type { FrequencyConflicts } from './frequency-conflicts.ts'
import type { OpenAlerts } from './open-alerts.ts'
import type { UnknownCarriers } from './unknown-carriers.ts'

/** The subsystems whose states cause alerts. */
export interface AlertInputs {
  readonly receiverStore: ReceiverStore
  readonly unitStore: UnitStore
  readonly sourceRegistry: SourceRegistry
  readonly connections: Connections
  readonly receiverSources: ReceiverSources
  readonly lists: StoredLists
  readonly slotRecords: SlotRecords
  readonly conditions: ConditionMonitor
  readonly forecasts: BatteryForecasts
  readonly frequencyConflicts: FrequencyConflicts
  readonly unknownCarriers: UnknownCarriers
  readonly audioFaults: AudioFaults
}

interface Evaluated {
  readonly changes: readonly AlertChange[]
  /** The end of the next delay (epoch ms); Infinity if none is running. */
  readonly dueAt: number
}

export class AlertEvaluation {
  readonly #open: OpenAlerts
  readonly #context: AlertContext
  readonly #inputs: AlertInputs
  readonly #log: Log
  readonly #starts = new Map<number | string, CauseStarts>()
  /** When open alerts last followed the values of their causes (epoch ms), by alert id. */
  readonly #followedAt = new Map<number, number>()

  constructor(open: OpenAlerts, context: AlertContext, inputs: AlertInputs, log: Log) {
    this.#open = open
    this.#context = context
    this.#inputs = inputs
    this.#log = log
  }

  evaluateReceiver(id: number): Evaluated {
    const { receiverStore, unitStore, receiverSources, conditions } = this.#inputs
    const receiver = receiverStore.get(id)
    if (receiver === undefined || !conditions.isEvaluated(id) || !this.#isMonitored(receiver.manufacturer)) {
      this.#starts.delete(id)
      return { changes: [], dueAt: Number.POSITIVE_INFINITY }
    }
    const open = this.#open.ofReceiver(id)
    for (const alert of open) if (alert.state === 'acknowledged') void this.endDied(alert)
    const context = {
      areSourcesFailing: receiverSources.areFailing(receiver),
      thresholds: (channel: Channel) => conditions.thresholdsOf(receiver, channel),
      needsMuteAlert: (channel: Channel) =>
        needsMuteAttention(conditions.thresholdsOf(receiver, channel), this.#inputs.lists.showsOf(channel.slot)) ||
        open.some((alert) => alert.channel_id === channel.id && isMutedOnPurpose(alert)),
    }
    const isInhibited = context.areSourcesFailing || !receiver.is_active
    const packs = unitStore.reportedBy(id)
    const forecastContext = this.#forecastContext(isInhibited)
    const conflictContext = this.#conflictContext(isInhibited)
    const planContext = { plan: this.#inputs.lists.current.activePlan, isInhibited }
    const { unknownCarriers, audioFaults } = this.#inputs
    const carrierContext: CarrierContext = {
      carrierNear: (channelId) => unknownCarriers.carrierNear(channelId),
      isSettling: unknownCarriers.isSettling,
      isInhibited,
    }
    const audioContext: AudioFaultContext = {
      faultOf: (channelId, kind) => audioFaults.faultOf(channelId, kind),
      isInhibited,
    }
    const causes = [
      ...listReceiverCauses(receiver, context),
      ...listFaultCauses(receiver, packs, isInhibited),
      ...listForecastCauses(receiver, open, forecastContext),
      ...listConflictCauses(receiver, conflictContext),
      ...listOffPlanCauses(receiver, planContext),
      ...listCarrierCauses(receiver, carrierContext),
      ...listAudioCauses(receiver, audioContext),
    ]
    const endingOf = (alert: Alert) => {
      if (alert.kind === 'charger_fault' || alert.kind === 'equipment_fault') return isInhibited ? null : 'resolved'
      if (alert.kind === 'will_not_last') return forecastAlertEnding(receiver, alert, forecastContext)
      if (alert.kind === 'frequency_conflict') return conflictAlertEnding(receiver, alert, conflictContext)
      if (alert.kind === 'off_plan') return offPlanAlertEnding(receiver, alert, planContext)
      if (alert.kind === 'unknown_carrier') return carrierAlertEnding(receiver, alert, carrierContext)
      if (alert.kind === 'audio_dropout' || alert.kind === 'audio_clipping') return audioAlertEnding(receiver, alert)
      return receiverAlertEnding(receiver, alert)
    }
    return this.#compare(id, { causes: causes.map((cause) => this.#withNames(cause, receiver)), open, endingOf })
  }

  muteCause(receiver: Receiver, channel: Channel): Cause {
    const { conditions } = this.#inputs
    const context = { areSourcesFailing: false, thresholds: () => conditions.thresholdsOf(receiver, channel) }
    return this.#withNames(toChannelCause(receiver, channel, 'muted', context), receiver)
  }

  #withNames(cause: Cause, receiver: Receiver): Cause {
    return withNames(cause, receiver, (channel) => this.#inputs.slotRecords.titleOf(receiver, channel))
  }

  /** Ends the condition `battery_died` of a channel whose alert was acknowledged. */
  async endDied({ kind, channel_id }: Alert): Promise<void> {
    if (kind !== 'battery_died' || channel_id === null) return
    await this.#inputs.conditions.acknowledgeDied(channel_id).catch((error) => {
      this.#log.warn({ channel: channel_id, error: String(error) }, 'the end of battery_died could not be stored')
    })
  }

  /** `failures` are undefined after a success. */
  evaluateSource(source: string, failures: SourceFailures | undefined): readonly AlertChange[] {
    const alert = this.#open.find(upstreamSubject(source))
    return this.#compare(source, {
      causes: failures === undefined ? [] : listSourceCauses(failures),
      open: alert === undefined ? [] : [alert],
      endingOf: () => (failures === undefined ? 'resolved' : null),
    }).changes
  }

  /** `fault` is null while there is none. */
  evaluateFault(kind: ServiceFault, fault: string | null): readonly AlertChange[] {
    const subject = faultSubjects[kind]
    const alert = this.#open.find(subject)
    return this.#compare(subject, {
      causes: fault === null ? [] : [toFaultCause(kind, fault)],
      open: alert === undefined ? [] : [alert],
      endingOf: () => (fault === null ? 'resolved' : null),
    }).changes
  }

  evaluateSubscriptions(): AlertChange[] {
    const { connections, sourceRegistry } = this.#inputs
    return connections
      .subscriptions()
      .filter(({ source }) => sourceRegistry.find(source) !== undefined)
      .flatMap((subscription) => {
        const subject = subscriptionSubject(subscription.source)
        const alert = this.#open.find(subject)
        if (alert === undefined && subscription.downSince === null) return []
        const { isEnabled, downSince } = subscription
        const isUp = !isEnabled || downSince === null
        return this.#compare(subject, {
          causes: listSubscriptionCauses(subscription, performance.now()),
          open: alert === undefined ? [] : [alert],
          endingOf: () => (isUp ? (isEnabled ? 'resolved' : 'stopped') : null),
        }).changes
      })
  }

  endSnoozes(): AlertChange[] {
    return this.#open
      .list()
      .filter((alert) => alert.site === null && alert.state === 'snoozed' && this.#context.isSnoozeOver(alert))
      .map((alert) => ({ type: 'end_snooze', alert }))
  }

  /** Clears the alerts whose subject is no longer monitored and, after a change of settings, those of disabled kinds. */
  clearOrphans(areSettingsChanged: boolean): AlertChange[] {
    return this.#open.list().flatMap((alert): AlertChange[] => {
      const isDisabled = alert.site === null && areSettingsChanged && !this.#context.settingsOf(alert).isEnabled
      const ending: AlertEnding | null = this.#isOrphan(alert) ? 'unmonitored' : isDisabled ? 'disabled' : null
      return ending === null ? [] : [{ type: 'clear', alert, message: describeEnding(alert, ending) }]
    })
  }

  #isOrphan({ manufacturer, receiver_id, subject, kind, site }: Alert): boolean {
    const { receiverStore, sourceRegistry } = this.#inputs
    if (site !== null) return !this.#isMonitored(recordOfSite(site.code))
    if (manufacturer === null) return false
    if (!this.#isMonitored(manufacturer)) return true
    if (receiver_id !== null) return receiverStore.facts(receiver_id) === undefined
    const source = subject.slice(subject.indexOf(':') + 1)
    const subjectOf = kind === 'link_lost' ? subscriptionSubject : upstreamSubject
    return subject === subjectOf(source) && sourceRegistry.find(source) === undefined
  }

  #isMonitored(code: string): boolean {
    return this.#inputs.sourceRegistry.manufacturers().some((known) => known.code === code && known.isEnabled)
  }

  #forecastContext(isInhibited: boolean): ForecastContext {
    const { lists, forecasts } = this.#inputs
    return {
      runningShows: lists.runningShows(),
      groups: lists.current.groups,
      forecast: (channel) => forecasts.currentForecast(channel),
      batterySince: (channelId) => forecasts.batterySince(channelId),
      isInhibited,
      now: now(),
    }
  }

  #conflictContext(isInhibited: boolean): ConflictContext {
    const { frequencyConflicts } = this.#inputs
    return {
      conflictOf: (channelId) => frequencyConflicts.conflictOf(channelId),
      isSettling: (channelId) => frequencyConflicts.isSettling(channelId),
      isInhibited,
    }
  }

  #compare(scope: number | string, comparison: ComparedCauses): Evaluated {
    const compared = compareCauses({
      starts: this.#starts.get(scope) ?? noStarts,
      now: now(),
      followedAt: ({ id }) => this.#followedAt.get(id),
      settings: (subject) => this.#context.settingsOf(subject),
      ...comparison,
    })
    if (compared.starts.size === 0) this.#starts.delete(scope)
    else this.#starts.set(scope, compared.starts)
    for (const change of compared.changes) {
      if (change.type === 'update') this.#followedAt.set(change.alert.id, now())
      if (change.type === 'clear') this.#followedAt.delete(change.alert.id)
    }
    return compared
  }
}
