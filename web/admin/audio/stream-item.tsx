/** One stream of the list. It is received while it is open. */

import { ChevronRight } from 'lucide-react'
import { useId } from 'react'
import type { AudioStreamBody } from '../../../src/contract/audio-streams.ts'
import { useServices } from '../../app/context.ts'
import { formatHertz, formatShortDuration, formatUnit, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { Pairs } from '../../parts/pairs.tsx'
import { StreamChannels } from './stream-channels.tsx'
import type { StreamQuestion } from './stream-dialogs.tsx'
import { stateTones, streamState } from './stream-state.ts'

interface StreamItemProps {
  readonly stream: AudioStreamBody
  readonly isOpen: boolean
  onToggle(): void
  /** Null if the user may not edit streams. */
  readonly onAsk: ((question: StreamQuestion) => void) | null
}

export function StreamItem({ stream, isOpen, onToggle, onAsk }: StreamItemProps) {
  const id = useId()
  const { name, source, encoding, sample_rate, channels, announced } = stream
  return (
    <li className="box stream" data-open={isOpen || undefined}>
      <h2>
        <button type="button" className="stream-toggle" aria-expanded={isOpen} aria-controls={id} onClick={onToggle}>
          <ChevronRight className="icon" aria-hidden="true" />
          <bdi>{plainText(name)}</bdi>
        </button>
      </h2>
      <span className="box-note">{t(`streams.sources.${source}`)}</span>
      <span className="box-note">{addressText(stream)}</span>
      <span className="box-note">
        {t('streams.format', { encoding, rate: formatHertz(sample_rate), count: channels })}
      </span>
      <span className="stream-state">
        <StateTag stream={stream} />
        {announced ? null : <span className="box-note">{t('streams.notAnnounced')}</span>}
      </span>
      <div id={id} className="stream-details" hidden={!isOpen}>
        {isOpen ? <Details {...{ stream, onAsk }} /> : null}
      </div>
    </li>
  )
}

function addressText({ address, port }: AudioStreamBody): string {
  return address === null ? t('streams.program') : `${address}:${port}`
}

function StateTag({ stream }: { stream: AudioStreamBody }) {
  const state = streamState(stream)
  const { lost } = stream.status
  const text = state === 'receiving' && lost > 0 ? t('streams.withLoss', { count: lost }) : t(`streams.states.${state}`)
  return (
    <span className="tag" data-tone={stateTones[state]}>
      {text}
    </span>
  )
}

/** The levels change all the time. Each request keeps the stream joined. */
const levelsEveryMs = 500
const topics = [] as const

function Details({ stream: listed, onAsk }: Pick<StreamItemProps, 'stream' | 'onAsk'>) {
  const { body, problem } = useResource(`/api/audio/streams/${listed.id}/`, 'object', topics, levelsEveryMs)
  // After an edit, the list is reloaded first.
  const stream = body !== null && body.version >= listed.version ? body : listed
  const { status, interface: interfaceName } = stream
  const { packets, lost, reordered, restarts, jitter_ms, last_packet_age, error } = status
  return (
    <>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {error === null ? null : (
        <p className="problem" role="alert">
          {plainText(error)}
        </p>
      )}
      <Pairs
        pairs={[
          { name: t('streams.interface'), value: plainText(interfaceName ?? t('streams.allInterfaces')) },
          { name: t('streams.packets'), value: String(packets) },
          { name: t('streams.lost'), value: t('streams.lostAndLate', { lost, reordered }) },
          { name: t('streams.restarts'), value: String(restarts) },
          { name: t('streams.jitter'), value: formatUnit('millisecond', Math.round(jitter_ms * 10) / 10) },
          {
            name: t('streams.lastPacket'),
            value: last_packet_age === null ? t('parts.never') : ageText(last_packet_age),
          },
        ]}
      />
      <StreamChannels stream={stream} />
      {onAsk === null ? null : <Actions {...{ stream, onAsk }} />}
    </>
  )
}

function ageText(seconds: number): string {
  if (seconds < 1) return t('parts.justNow')
  return t('parts.ago', { age: formatShortDuration(seconds * 1000) })
}

interface ActionsProps {
  readonly stream: AudioStreamBody
  onAsk(question: StreamQuestion): void
}

function Actions({ stream, onAsk }: ActionsProps) {
  const { api } = useServices()
  const { send, isSending, problem } = useRequest()
  const { id, source, enabled, version } = stream
  const enable = () =>
    void send(() => api.write('PATCH', `/api/audio/streams/${id}/`, { enabled: true }, 'object', version))
  return (
    <div className="list-actions">
      <button type="button" className="choice" onClick={() => onAsk({ kind: 'change', stream })}>
        {t('streams.change')}
      </button>
      {enabled ? (
        <button type="button" className="choice" onClick={() => onAsk({ kind: 'disable', stream })}>
          {t('streams.disable')}
        </button>
      ) : (
        <button type="button" className="choice" disabled={isSending} onClick={enable}>
          {t('streams.enable')}
        </button>
      )}
      {source === 'command' ? (
        <span className="hint">{t('streams.programHint')}</span>
      ) : (
        <button type="button" className="choice" onClick={() => onAsk({ kind: 'remove', stream })}>
          {t('streams.remove')}
        </button>
      )}
      {problem === null ? null : <ProblemLine problem={problem} />}
    </div>
  )
}
