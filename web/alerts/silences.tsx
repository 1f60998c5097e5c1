import { VolumeX } from 'lucide-react'
import type { SilenceBody } from '../../src/contract/alerts.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatMoment, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { alertKindTitle, personName } from '../parts/alerts/alert-text.ts'
import { useChannelTitles } from '../parts/channels/channel-titles.ts'
import { useShowMessage } from '../parts/dialogs/messages.tsx'

export function Silences() {
  const silences = useWatchState((watchState) => watchState.silences)
  if (silences.length === 0) return null
  return (
    <section className="silences" aria-label={t('alerts.silence.list')}>
      <h2>{t('alerts.silence.list')}</h2>
      <ul>
        {silences.map((silence) => (
          <Silence key={silence.id} silence={silence} />
        ))}
      </ul>
    </section>
  )
}

function Silence({ silence }: { silence: SilenceBody }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const { send, isSending } = useRequest()
  const mayOperate = useMay('operate')
  const what = useSilencedText(silence)
  const { id, until, by, reason, version } = silence
  const end = async () => {
    const response = await send(() => api.write('DELETE', `/api/silences/${id}/`, undefined, 'nothing', version))
    if (response === null) return
    if (response.ok) showMessage({ text: t('alerts.silence.ended', { what }) })
    else showMessage({ text: response.problem.detail, tone: 'alarm' })
  }
  return (
    <li className="silence">
      <VolumeX className="icon" aria-hidden="true" />
      <p>
        <strong>{what}</strong>{' '}
        <span>
          {t('alerts.silence.untilBy', { until: formatMoment(until), name: personName(by) })}
          {reason === '' ? null : <q>{reason}</q>}
        </span>
      </p>
      {mayOperate ? (
        <button
          type="button"
          className="choice"
          disabled={isSending}
          aria-label={t('alerts.silence.endOf', { what })}
          onClick={end}
        >
          {t('alerts.silence.end')}
        </button>
      ) : null}
    </li>
  )
}

/** For example `Battery low · 12 Nora`. */
function useSilencedText({ channels, groups, kinds }: SilenceBody): string {
  const channelTitles = useChannelTitles(channels.join())
  const known = useWatchState((watchState) => watchState.groups)
  const groupNames = groups.map((id) => known.find((group) => group.id === id)?.title ?? `#${id}`)
  const lists = [
    kinds.length === 0 ? [t('alerts.silence.everyKind')] : kinds.map((kind) => alertKindTitle(kind)),
    channels.length === 0 ? [] : [channelTitles],
    groupNames.map(plainText),
  ]
  return lists
    .filter((list) => list.length > 0)
    .map((list) => list.join(', '))
    .join(' · ')
}
