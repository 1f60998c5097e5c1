/** The channels of an open stream: level, label, and the channels of the show that are mapped to them. */

import { Link } from '@tanstack/react-router'
import { Ear, Square } from 'lucide-react'
import type { AudioStreamBody } from '../../../src/contract/audio-streams.ts'
import type { AudioProposalBody, ChannelAudioBody } from '../../../src/contract/listening.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { isSameSound, useListening } from '../../app/listening.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { useMay } from '../../app/session.ts'
import { ChannelChoice } from '../../parts/channels/channel-choice.tsx'
import { useChannelTitles } from '../../parts/channels/channel-titles.ts'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { SoundLevel } from '../../parts/meters/sound-level.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'

type Mapping = ChannelAudioBody & { readonly channel_id: number }

interface StreamChannel {
  readonly number: number
  readonly label: string
  readonly level: number | null
  readonly mappings: readonly Mapping[]
  readonly proposals: readonly AudioProposalBody[]
}

/** Labels change without a message. */
const refreshMs = 5000
const topics = ['audio_mappings'] as const

export function StreamChannels({ stream }: { stream: AudioStreamBody }) {
  const { api } = useServices()
  const mappings = useResource('/api/audio/mappings/', 'list', topics, refreshMs)
  const proposals = useResource('/api/audio/proposals/', 'list', topics, refreshMs)
  const mayMap = useMay('administer')
  const showMessage = useShowMessage()
  const { send, isSending, problem } = useRequest()
  const { id, labels, channels, status } = stream
  /** Null removes the mapping. */
  const map = async (channelId: number, channel: number | null) => {
    const mapped = channel === null ? null : { stream_id: id, channel }
    const response = await send(() => api.write('PUT', `/api/channels/${channelId}/audio/`, mapped, 'object'))
    if (response?.ok !== true) return
    showMessage({ text: t('listen.saved') })
    await Promise.all([mappings.reload(), proposals.reload()])
  }
  const isHere = (number: number) => (mapped: { readonly stream_id: number; readonly channel: number }) =>
    mapped.stream_id === id && mapped.channel === number
  const rows = Array.from({ length: channels }, (_, index): StreamChannel => {
    const number = index + 1
    return {
      number,
      label: plainText(labels[index] ?? ''),
      level: status.levels?.[index] ?? null,
      mappings: (mappings.body ?? []).filter(isHere(number)),
      proposals: (proposals.body ?? []).filter(isHere(number)),
    }
  })
  const edit = mayMap ? { isSending, map } : null
  const columns: readonly Column<StreamChannel>[] = [
    { key: 'number', title: t('streams.columns.channel'), align: 'end', cell: ({ number }) => number },
    { key: 'label', title: t('streams.columns.label'), cell: ({ label }) => <bdi>{label || t('card.none')}</bdi> },
    {
      key: 'level',
      title: t('streams.columns.level'),
      cell: ({ level }) => (
        <span className="stream-level">
          <SoundLevel dbfs={level} />
        </span>
      ),
    },
    { key: 'mapped', title: t('streams.columns.mapped'), cell: (row) => <Mapped {...{ row, edit }} /> },
    { key: 'sound', title: t('streams.columns.sound'), cell: (row) => <ListenToStream {...{ stream, row }} /> },
  ]
  return (
    <>
      {problem === null ? null : <ProblemLine problem={problem} />}
      <DataTable
        caption={t('streams.channelsOf', { name: plainText(stream.name) })}
        columns={columns}
        rows={rows}
        idOf={({ number }) => number}
      />
    </>
  )
}

interface MappedProps {
  readonly row: StreamChannel
  /** Null if the user may not map channels. */
  readonly edit: {
    readonly isSending: boolean
    map(channelId: number, channel: number | null): Promise<void>
  } | null
}

function Mapped({ row, edit }: MappedProps) {
  const { number, mappings, proposals } = row
  return (
    <div className="stream-mapped">
      {mappings.map((mapping) => (
        <MappedChannel key={mapping.channel_id} {...{ mapping, edit }} />
      ))}
      {edit === null ? null : (
        <>
          {proposals.map((proposal) => (
            <Proposal key={proposal.channel_id} {...{ proposal, edit }} />
          ))}
          <ChannelChoice
            className="choice search"
            label={t('streams.mapChannel', { channel: number })}
            others={[{ value: '', text: t('streams.map') }]}
            value=""
            onChoice={(value) => value !== '' && !edit.isSending && void edit.map(Number(value), number)}
          />
        </>
      )}
    </div>
  )
}

function MappedChannel({ mapping, edit }: Pick<MappedProps, 'edit'> & { mapping: Mapping }) {
  const { channel_id, channel, label, label_now, label_changed } = mapping
  const title = useChannelTitles(String(channel_id))
  return (
    <div className="list-actions">
      <Link to="/channels/$id" params={{ id: String(channel_id) }}>
        <bdi>{title}</bdi>
      </Link>
      {label_changed ? (
        <span className="tag" data-tone="waiting">
          {t('streams.labelChanged', {
            before: plainText(label ?? t('card.none')),
            now: plainText(label_now ?? t('card.none')),
          })}
        </span>
      ) : null}
      {edit !== null && label_changed ? (
        <button
          type="button"
          className="choice"
          disabled={edit.isSending}
          onClick={() => void edit.map(channel_id, channel)}
        >
          {t('streams.keepMapping')}
          <span className="visually-hidden"> {title}</span>
        </button>
      ) : null}
      {edit === null ? null : (
        <button
          type="button"
          className="choice"
          disabled={edit.isSending}
          onClick={() => void edit.map(channel_id, null)}
        >
          {t('streams.unmap')}
          <span className="visually-hidden"> {title}</span>
        </button>
      )}
    </div>
  )
}

interface ProposalProps {
  readonly proposal: AudioProposalBody
  readonly edit: NonNullable<MappedProps['edit']>
}

function Proposal({ proposal: { channel_id, channel, by }, edit }: ProposalProps) {
  const title = useChannelTitles(String(channel_id))
  return (
    <div className="list-actions">
      <button
        type="button"
        className="choice"
        data-tone="usual"
        disabled={edit.isSending}
        title={t(`listen.by.${by}`)}
        onClick={() => void edit.map(channel_id, channel)}
      >
        {t('streams.proposal', { channel: title })}
      </button>
    </div>
  )
}

function ListenToStream({ stream, row }: { stream: AudioStreamBody; row: StreamChannel }) {
  const toggle = useListening((player) => player?.toggleStream)
  const sound = { streamId: stream.id, channel: row.number }
  const name = t('listen.mapped', { stream: plainText(stream.name), channel: row.number })
  const isPlaying = useListening((player) => isSameSound(player?.stream ?? null, { ...sound, name }))
  if (toggle === undefined || !stream.enabled) return null
  const Icon = isPlaying ? Square : Ear
  return (
    <button type="button" className="choice" onClick={() => toggle({ ...sound, name })}>
      <Icon className="icon" aria-hidden="true" />
      {t(isPlaying ? 'card.stopListening' : 'card.listen')}
      <span className="visually-hidden"> {name}</span>
    </button>
  )
}
