import './channel.css'
import { Link, useParams } from '@tanstack/react-router'
import { ChartGantt, Lightbulb } from 'lucide-react'
import type { SourceBody } from '../../src/contract/live-messages.ts'
import type { ReceiverInData, ReceiverWithSources } from '../../src/contract/receivers.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { lastReceived } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePageTitle } from '../app/page-title.ts'
import { useRequest, useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { Ago, Since } from '../parts/age.tsx'
import { AcknowledgeButton } from '../parts/alerts/acknowledge-button.tsx'
import { mostUrgentFirst } from '../parts/alerts/alerts.ts'
import { ChannelCard } from '../parts/card/channel-card.tsx'
import { LivePhase } from '../parts/card/phase.tsx'
import { useShowMessage } from '../parts/dialogs/messages.tsx'
import { Notice } from '../parts/dialogs/notice.tsx'
import { Silence, SilentLamp } from '../parts/equipment/health-list.tsx'
import { SiteNote } from '../parts/equipment/site-note.tsx'
import { firstSilence, offlineReason, recordOf, sourcesOf, statusText } from '../parts/equipment/source-status.ts'
import { Loaded } from '../parts/loaded.tsx'
import { MeterLayer } from '../parts/meters/meters.tsx'
import { Pairs } from '../parts/pairs.tsx'
import { StateIcon } from '../parts/state-icon.tsx'
import { CaptureButton } from './capture-button.tsx'
import { EquipmentAlerts } from './equipment-alerts.tsx'
import { ModelStatus } from './model-status.tsx'
import { networkPairs, rawReceiverPairs, receiverPairs, receiverTopics } from './receiver-details.tsx'
import { ScanActions } from './scan-actions.tsx'

export function Receiver() {
  const id = Number(useParams({ strict: false }).id)
  const receiver = useWatchState((watchState) => watchState.receivers.get(id))
  const title = receiver === undefined ? t('channel.receiver') : plainText(receiver.name)
  usePageTitle(title)
  return (
    <main className="content detail" id="content" tabIndex={-1}>
      <header className="detail-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {receiver === undefined ? null : (
          <>
            <span className="detail-model">{receiver.model ?? receiver.device_type}</span>
            {receiver.site === null ? null : <bdi className="detail-model">{plainText(receiver.site.name)}</bdi>}
            <Link
              className="choice"
              to={pathOf('timeline')}
              search={{ channel: receiver.channels.map(({ id }) => id).join() }}
            >
              <ChartGantt className="icon" aria-hidden="true" />
              {t('nav.timeline')}
            </Link>
          </>
        )}
      </header>
      <LivePhase>
        {receiver === undefined ? (
          <Notice title={t('receiver.unknownTitle')}>
            <p>{t('receiver.unknown')}</p>
          </Notice>
        ) : (
          <OneReceiver receiver={receiver} />
        )}
      </LivePhase>
    </main>
  )
}

function OneReceiver({ receiver }: { receiver: ReceiverInData }) {
  return (
    <>
      {receiver.is_active ? <OnlineState receiver={receiver} /> : <OfflineState receiver={receiver} />}
      {receiver.channels.length === 0 ? null : <Channels receiver={receiver} />}
      <div className="detail-columns" data-columns="2">
        <div className="detail-column">
          <EquipmentAlerts receiverId={receiver.id} channelId={null} />
          <Sources receiver={receiver} />
        </div>
        <div className="detail-column">
          <Facts receiver={receiver} />
        </div>
      </div>
    </>
  )
}

function OnlineState({ receiver: { channels } }: { receiver: ReceiverInData }) {
  const attention = channels.filter(({ condition }) => condition.attention).length
  return (
    <section className="condition" data-severity={attention === 0 ? 'ok' : 'warning'} aria-label={t('receiver.state')}>
      <p className="condition-state">
        <StateIcon state={attention === 0 ? 'ok' : 'battery_low'} />
        <strong>{t('receiver.online')}</strong>
        {channels.length === 0 ? null : (
          <span className="condition-since">
            {attention === 0 ? t('receiver.allOk') : t('receiver.problems', { count: attention })}
          </span>
        )}
      </p>
    </section>
  )
}

function OfflineState({ receiver }: { receiver: ReceiverInData }) {
  const sources = useSources(receiver)
  const alerts = useWatchState((watchState) => watchState.alerts)
  const own = alerts.filter((alert) => alert.kind === 'receiver_offline' && alert.receiver_id === receiver.id)
  const alert = own.toSorted(mostUrgentFirst)[0]
  const offline = receiver.channels.filter(({ condition }) => condition.state === 'receiver_offline')
  const since = offline.map(({ condition }) => lastReceived(condition)).toSorted((a, b) => a.at - b.at)[0]
  const isInUse = offline.some(({ condition }) => condition.attention)
  return (
    <section
      className="condition"
      data-attention={isInUse || undefined}
      data-severity={offline.some(({ condition }) => condition.severity === 'critical') ? 'critical' : 'warning'}
      aria-label={t('receiver.state')}
    >
      <p className="condition-state">
        <StateIcon state="receiver_offline" />
        <strong>{t('receiver.offline')}</strong>
        {since === undefined ? null : (
          <span className="condition-since">
            <Since since={since} />
          </span>
        )}
        {alert === undefined ? null : <AcknowledgeButton alert={alert} />}
      </p>
      <p>{offlineReason(sources)}</p>
    </section>
  )
}

function Channels({ receiver: { id, channels } }: { receiver: ReceiverInData }) {
  return (
    <section className="detail-part detail-channels">
      <h2>{t('receiver.channels')}</h2>
      <div className="meter-field">
        <ul className="cards" data-density="dense" aria-label={t('receiver.channels')}>
          {channels.map((channel) => (
            <ChannelCard key={channel.id} receiverId={id} channelId={channel.id} step="usual" hasChart={true} />
          ))}
        </ul>
        <MeterLayer order={channels.map((channel) => channel.id).join(' ')} />
      </div>
    </section>
  )
}

function useDetails(id: number) {
  return useResource(`/api/receivers/${id}/`, 'object', receiverTopics)
}

function useSources(receiver: ReceiverInData): readonly SourceBody[] {
  const { body } = useDetails(receiver.id)
  const sources = useWatchState((watchState) => watchState.sources)
  return sourcesOf(receiver, sources, body?.sources ?? [])
}

function Facts({ receiver: { id, is_active } }: { receiver: ReceiverInData }) {
  const resource = useDetails(id)
  return (
    <Loaded resource={resource}>
      {(body) => (
        <>
          <section className="detail-part">
            <h2>{t('channel.receiver')}</h2>
            <Pairs pairs={receiverPairs({ ...body, is_active })} />
            {body.model_status === null ? null : <ModelStatus receiver={body} status={body.model_status} />}
            {body.site === null ? <LocalActions body={body} isActive={is_active} onChange={resource.reload} /> : null}
            {body.site === null ? null : (
              <SiteNote site={body.site} page="layout">
                {t('receiver.atSite', { site: plainText(body.site.name) })}
              </SiteNote>
            )}
          </section>
          <section className="detail-part">
            <h2>{t('channel.network')}</h2>
            <Pairs pairs={networkPairs(body)} />
          </section>
          <details className="detail-part detail-more">
            <summary>{t('receiver.details')}</summary>
            <Pairs pairs={rawReceiverPairs(body)} />
          </details>
        </>
      )}
    </Loaded>
  )
}

interface LocalActionsProps {
  readonly body: ReceiverWithSources
  readonly isActive: boolean
  onChange(): void
}

function LocalActions({ body, isActive, onChange }: LocalActionsProps) {
  return (
    <>
      {isActive ? (
        <IdentifyButton receiverId={body.id} name={plainText(body.name)} canIdentify={body.can_identify} />
      ) : null}
      <CaptureButton sources={body.sources} />
      <ScanActions receiver={{ ...body, is_active: isActive }} onChange={onChange} />
      <p>
        <Link to={pathOf('layout')} search={{ search: body.name }}>
          {t('receiver.rack')}
        </Link>
      </p>
    </>
  )
}

function Sources({ receiver }: { receiver: ReceiverInData }) {
  const sources = useSources(receiver)
  const isReported = useWatchState(({ health }) =>
    health?.manufacturers.some(({ code, status }) => code === recordOf(receiver) && status === 'unconfigured'),
  )
  return (
    <section className="detail-part">
      <h2>{t('receiver.sources')}</h2>
      {sources.length === 0 ? <p>{isReported ? statusText('reported') : t('receiver.noSources')}</p> : null}
      <ul className="source-list">
        {sources.map((source) => (
          <Source key={source.address} source={source} />
        ))}
      </ul>
    </section>
  )
}

function Source({ source }: { source: SourceBody }) {
  const { address, status, error } = source
  const silentSince = firstSilence([source])
  const alert = useWatchState(({ alerts }) =>
    alerts.find(({ kind, data }) => kind === 'upstream_failing' && data.address === address),
  )
  const tone = status === 'healthy' ? 'good' : status === 'unknown' ? 'calm' : 'bad'
  return (
    <li>
      <bdi className="source-address">{address}</bdi>
      {silentSince === null ? null : (
        <span className="source-silent">
          <SilentLamp since={silentSince} /> <Silence since={silentSince} />
        </span>
      )}
      {silentSince !== null && status === 'healthy' ? null : (
        <span className="tag" data-tone={tone}>
          {statusText(status)}
        </span>
      )}
      {error === null ? null : <p className="source-error">{plainText(error)}</p>}
      {alert === undefined ? null : (
        <p className="source-error">
          {t('receiver.since')} <Ago at={alert.raised_at} />
        </p>
      )}
    </li>
  )
}

interface IdentifyButtonProps {
  readonly receiverId: number
  readonly name: string
  readonly canIdentify: boolean
}

export function IdentifyButton({ receiverId, name, canIdentify }: IdentifyButtonProps) {
  const { api } = useServices()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const mayOperate = useMay('operate')
  const isOn = useWatchState(({ config }) => config.IDENTIFY)
  if (!mayOperate || !isOn || !canIdentify) return null
  const identify = async () => {
    const response = await send(() => api.write('POST', `/api/receivers/${receiverId}/identify/`, {}, 'object'))
    if (response === null) return
    if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
    showMessage({ text: t('receiver.identifying', { name, count: response.body.seconds }) })
  }
  return (
    <button type="button" className="choice" disabled={isSending} onClick={() => void identify()}>
      <Lightbulb className="icon" aria-hidden="true" />
      {t('receiver.identify')}
    </button>
  )
}
