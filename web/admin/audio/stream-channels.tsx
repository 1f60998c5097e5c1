/** The channels of an open stream: level, label, and the channels of the show that are mapped to them. */

import { Link } from '@tanstack/react-router'
import { Ear, Square } from 'lucide-react'
import type { AudioStreamBody } from '../../../src/contract/audio-streams.ts'
import type { AudioProposalBody, ChannelAudioBody } from '../../../src/contract/listening.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { isSameSound, useListening } from '../../app/listening.ts'
import { useMay } from '../../app/session.ts'
import { type StreamChannel, useAudioMappings } from '../../parts/audio-mappings.ts'
import { ChannelChoice } from '../../parts/channels/channel-choice.tsx'
import { useChannelTitles } from '../../parts/channels/channel-titles.ts'
import { ProblemLine } from '../../parts/dialogs/notice.tsx'
import { SoundLevel } from '../../parts/meters/sound-level.tsx'
import { type Column, DataTable } from '../../parts/tables/data-table.tsx'

type Mapping = ChannelAudioBody & { readonly channel_id: number }

interface ChannelRow {
  readonly number: number
  readonly label: string
  readonly level: number | null
  readonly mappings: readonly Mapping[]
  readonly proposals: readonly AudioProposalBody[]
}

export function StreamChannels({ stream }: { stream: AudioStreamBody }) {
  const { mappings, proposals, map, isSending, problem } = useAudioMappings()
  const mayMap = useMay('administer')
  const { id, labels, channels, status } = stream
  const isHere = (number: number) => (mapped: StreamChannel) => mapped.stream_id === id && mapped.channel === number
  const rows = Array.from({ length: channels }, (_, index): ChannelRow => {
    const number = index + 1
    return {
      number,
      label: plainText(labels[index] ?? ''),
      level: status.levels?.[index] ?? null,
      mappings: (mappings ?? []).filter(isHere(number)),
      proposals: proposals.filter(isHere(number)),
    }
  })
  const edit = mayMap
    ? {
        isSending,
        map: (channelId: number, channel: number | null) =>
          map(channelId, channel === null ? null : { stream_id: id, channel }),
      }
    : null
  const columns: readonly Column<ChannelRow>[] = [
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
  readonly row: ChannelRow
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

function ListenToStream({ stream, row }: { stream: AudioStreamBody; row: ChannelRow }) {
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
