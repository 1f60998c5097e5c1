import './alerts.css'
import { Link } from '@tanstack/react-router'
import { ChartGantt } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { alertKindTable, isAlertKind } from '../../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import { conditionStates } from '../../../src/contract/values.ts'
import { happenedAt, isMutedOnPurpose } from '../../../src/domain/alerts/alert.ts'
import { pathOf } from '../../../src/domain/pages.ts'
import type { ConditionState } from '../../app/conditions.ts'
import { useWatchState } from '../../app/context.ts'
import { formatMoment, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useMay } from '../../app/session.ts'
import { Ago } from '../age.tsx'
import { StateIcon } from '../state-icon.tsx'
import { AcknowledgeButton } from './acknowledge-button.tsx'
import { alertLine, alertPeople, alertReason, alertSubject, alertTitle, personName, snoozeText } from './alert-text.ts'
import { canRespond, isOpen } from './alerts.ts'
import { NoteDialog, SilenceDialog, SnoozeDialog } from './dialogs.ts'
import { useAlertResponses } from './use-alert-responses.ts'

interface AlertItemProps {
  readonly alert: AlertBody
  readonly box?: ReactNode
  /** The page is about the subject of the alert, which is not repeated. */
  readonly isAtSubject?: boolean
  /** Without buttons, for a page about this alert. */
  readonly isReadOnly?: boolean
}

export function AlertItem({ alert, box = null, isAtSubject = false, isReadOnly = false }: AlertItemProps) {
  const { state, severity, cleared_at } = alert
  const at = happenedAt(alert)
  const people = alertPeople(alert)
  const reason = alertReason(alert)
  const Heading = isReadOnly ? 'h2' : 'h3'
  return (
    <li className="alert" data-severity={severity} data-state={state}>
      {box}
      <span className="alert-icon">
        <StateIcon state={iconState(alert)} />
      </span>
      <div className="alert-text">
        <Heading>
          {alertTitle(alert)} <span className="alert-severity">{t(`alerts.severities.${severity}`)}</span>
        </Heading>
        {isAtSubject ? null : <Subject alert={alert} />}
        {people === null ? null : (
          <p>
            <bdi>{people}</bdi>
          </p>
        )}
        {reason === null ? null : <p>{reason}</p>}
        <Beginning alert={alert} />
        <Response alert={alert} />
      </div>
      <p className="alert-times">
        <Ago at={at} /> <span>{formatMoment(at)}</span>
        {cleared_at === null ? null : (
          <span>
            {t('alerts.cleared')} <Ago at={cleared_at} />
          </span>
        )}
      </p>
      {isReadOnly ? null : <Actions alert={alert} />}
    </li>
  )
}

function iconState({ kind, severity }: AlertBody): ConditionState {
  const bySeverity = severity === 'critical' ? 'battery_critical' : 'battery_low'
  const icon = isAlertKind(kind) ? alertKindTable[kind].icon : undefined
  return icon ?? conditionStates.find((state) => state === kind) ?? bySeverity
}

/** A link to the channel, otherwise to the receiver, otherwise plain text. */
function Subject({ alert }: { alert: AlertBody }) {
  const { channel_id, receiver_id, data, site, title_now, cleared_at } = alert
  const receiver = useWatchState((watchState) => watchState.receivers.get(receiver_id ?? -1))
  const channel = receiver?.channels.find(({ id }) => id === channel_id)
  const name = alertSubject(alert, cleared_at === null ? (channel?.slot ?? data.slot) : data.slot)
  const place = [
    site && plainText(site.name),
    title_now === undefined ? null : t('alerts.titleNow', { name: plainText(title_now) }),
    data.pack && data.title && data.pack !== data.title ? t('alerts.pack', { name: plainText(data.pack) }) : null,
    receiver === undefined || plainText(receiver.name) === name ? null : plainText(receiver.name),
  ].filter((part) => part !== null)
  return (
    <p className="alert-subject">
      {channel !== undefined ? (
        <Link to="/channels/$id" params={{ id: String(channel.id) }}>
          <bdi>{name}</bdi>
        </Link>
      ) : receiver !== undefined ? (
        <Link to="/receivers/$id" params={{ id: String(receiver.id) }}>
          <bdi>{name}</bdi>
        </Link>
      ) : (
        <bdi>{name}</bdi>
      )}
      {place.length === 0 ? null : <span className="alert-place">{place.join(' · ')}</span>}
    </p>
  )
}

function Beginning({ alert: { kind, first } }: { alert: AlertBody }) {
  if (first === undefined || first.kind === kind) return null
  const title = alertTitle(first)
  return <p className="alert-response">{t('alerts.first', { title, time: formatMoment(first.at) })}</p>
}

function Response({ alert }: { alert: AlertBody }) {
  const { acknowledged_by, acknowledged_at, note, state, snoozed_until, silenced } = alert
  const earlier = (alert.acknowledgements ?? []).filter(({ at }) => at !== acknowledged_at)
  return (
    <>
      {earlier.map(({ at, by, note: reason }) => (
        <p key={at} className="alert-response">
          {t('alerts.earlier', { name: t('alerts.acknowledgedBy', { name: personName(by) }), time: formatMoment(at) })}
          {reason ? <q>{reason}</q> : null}
        </p>
      ))}
      {acknowledged_by === null ? null : (
        <p className="alert-response">
          {t('alerts.acknowledgedBy', { name: personName(acknowledged_by) })} <Ago at={acknowledged_at} />
          {note ? <q>{note}</q> : null}
        </p>
      )}
      {state !== 'snoozed' || snoozed_until === null ? null : (
        <p className="alert-response">{snoozeText(alert, snoozed_until)}</p>
      )}
      {silenced ? <p className="alert-response">{t('alerts.silenced')}</p> : null}
    </>
  )
}

function Actions({ alert }: { alert: AlertBody }) {
  const mayRespond = useMay('operate') && isOpen(alert)
  const [dialog, setDialog] = useState<'note' | 'snooze' | 'silence' | null>(null)
  const close = () => setDialog(null)
  return (
    <div className="alert-actions">
      {mayRespond ? (
        <>
          <AcknowledgeButton alert={alert} />
          {(canRespond(alert) ? (['note', 'snooze', 'silence'] as const) : (['silence'] as const)).map((name) => (
            <button key={name} type="button" className="choice" onClick={() => setDialog(name)}>
              {t(`alerts.actions.${name}`)}
            </button>
          ))}
        </>
      ) : null}
      <TakeBackButton alert={alert} />
      <TimelineLink alert={alert} />
      {dialog === 'note' ? <NoteDialog alerts={[alert]} onClose={close} /> : null}
      {dialog === 'snooze' ? <SnoozeDialog alerts={[alert]} onClose={close} /> : null}
      {dialog === 'silence' ? <SilenceDialog alert={alert} onClose={close} /> : null}
    </div>
  )
}

/** For an acknowledgement or a snooze. */
function TakeBackButton({ alert }: { alert: AlertBody }) {
  const { isSending, takeBack } = useAlertResponses()
  const mayOperate = useMay('operate')
  const { state, site } = alert
  if (!mayOperate || site !== null || (state !== 'acknowledged' && state !== 'snoozed')) return null
  const undo = state === 'acknowledged' ? 'unacknowledge' : 'unsnooze'
  const text = undo === 'unsnooze' && isMutedOnPurpose(alert) ? t('mute.takeBack') : t(`alerts.${undo}.action`)
  return (
    <button
      type="button"
      className="choice"
      disabled={isSending}
      aria-label={`${text}: ${alertLine(alert)}`}
      onClick={() => void takeBack(alert, undo)}
    >
      {text}
    </button>
  )
}

const aroundMs = 300_000

function TimelineLink({ alert }: { alert: AlertBody }) {
  const { channel_id, receiver_id } = alert
  const ids = useWatchState(({ receivers }) =>
    channel_id === null
      ? (receivers
          .get(receiver_id ?? -1)
          ?.channels.map(({ id }) => id)
          .join() ?? '')
      : String(channel_id),
  )
  const happened = happenedAt(alert)
  const at = Date.parse(happened)
  const range = { from: new Date(at - aroundMs).toISOString(), to: new Date(at + aroundMs).toISOString() }
  return (
    <Link
      className="choice"
      data-tone="quiet"
      to={pathOf('timeline')}
      search={{ ...range, at: happened, channel: ids }}
    >
      <ChartGantt className="icon" aria-hidden="true" />
      {t('nav.timeline')}
    </Link>
  )
}
