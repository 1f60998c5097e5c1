/** The clips on the strips, for the keyboard and for screen readers. */

import { Play, Square, Trash2 } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import type { ClipBody } from '../../src/contract/clips.ts'
import { formatMoment } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { clipDetail } from '../parts/clips.ts'
import { Removal } from '../parts/dialogs/dialog.tsx'
import { useRegion } from '../parts/use-region.ts'
import type { ClipPlayer } from './clip-player.ts'
import type { Names } from './names.ts'
import type { Row } from './use-timeline.ts'

interface ClipListProps {
  /** Newest first. */
  readonly clips: readonly ClipBody[]
  readonly rows: readonly Row[]
  readonly names: Names
  readonly player: ClipPlayer
  readonly now: number
  onPlay(clip: ClipBody): void
  reload(): Promise<unknown>
}

const mostShown = 100

export function ClipList({ clips, rows, names, player, now, onPlay, reload }: ClipListProps) {
  const mayOperate = useMay('operate')
  const { clipId, problem } = useSyncExternalStore(player.subscribe, player.get)
  const region = useRegion<HTMLUListElement>()
  const [removed, setRemoved] = useState<ClipBody | null>(null)
  const titleOf = ({ channel_id, from }: ClipBody) => {
    const row = rows.find(({ channelId }) => channelId === channel_id)
    return `${row === undefined ? '' : names.text(row)} · ${formatMoment(from, now)}`
  }
  return (
    <section className="timeline-clips" aria-labelledby="timeline-clips">
      <h2 id="timeline-clips">{t('clips.title')}</h2>
      {problem === null ? null : <p role="alert">{problem}</p>}
      <ul ref={region}>
        {clips.slice(0, mostShown).map((clip) => {
          const isPlaying = clip.id === clipId
          const Icon = isPlaying ? Square : Play
          return (
            <li key={clip.id}>
              <button
                type="button"
                className="choice"
                aria-pressed={isPlaying}
                onClick={() => (isPlaying ? player.stop() : onPlay(clip))}
              >
                <Icon className="icon" aria-hidden="true" />
                <span className="visually-hidden">{t(isPlaying ? 'clips.stop' : 'clips.play')}</span>
                <bdi>{titleOf(clip)}</bdi>
                <span className="timeline-clip-detail">{clipDetail(clip)}</span>
              </button>
              {mayOperate ? (
                <button
                  type="button"
                  className="choice"
                  aria-label={t('clips.delete', { clip: titleOf(clip) })}
                  onClick={() => setRemoved(clip)}
                >
                  <Trash2 className="icon" aria-hidden="true" />
                </button>
              ) : null}
            </li>
          )
        })}
      </ul>
      {removed === null ? null : (
        <Removal
          path={`/api/audio/clips/${removed.id}/`}
          title={t('clips.deleteTitle')}
          action={t('clips.deleteAction')}
          done={t('clips.deleted')}
          onDone={async () => {
            if (removed.id === clipId) player.stop()
            await reload()
          }}
          onClose={() => setRemoved(null)}
        >
          <p>{t('clips.deleteText', { clip: titleOf(removed) })}</p>
        </Removal>
      )}
    </section>
  )
}
