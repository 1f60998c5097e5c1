import type { AlertBody } from '../../../src/contract/alerts.ts'
import { useWatchState } from '../../app/context.ts'
import { formatShortDuration } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Dialog, DialogEnd } from '../dialogs/dialog.tsx'
import { TextField } from '../forms/field.tsx'
import { alertLine } from './alert-text.ts'
import { type Snooze, useAlertResponses } from './use-alert-responses.ts'

interface DialogProps {
  readonly alerts: readonly AlertBody[]
  onClose(): void
}

function titleOf(alerts: readonly AlertBody[], action: 'acknowledge' | 'snooze'): string {
  const [first, ...others] = alerts
  return first !== undefined && others.length === 0
    ? t(`alerts.${action}.of`, { alert: alertLine(first) })
    : t(`alerts.${action}.several`, { count: alerts.length })
}

export function NoteDialog({ alerts, onClose }: DialogProps) {
  const { isSending, acknowledge } = useAlertResponses()
  const submit = async (values: FormData) => {
    if (await acknowledge(alerts, String(values.get('note') ?? '').trim())) onClose()
  }
  return (
    <Dialog title={titleOf(alerts, 'acknowledge')} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void submit(new FormData(event.currentTarget))
        }}
      >
        <TextField name="note" label={t('alerts.note.label')} hint={t('alerts.note.hint')} maxLength={500} rows={2} />
        <div className="form-actions">
          <button type="submit" className="choice" data-tone="usual" disabled={isSending}>
            {t('alerts.acknowledge.action')}
          </button>
          <button type="button" className="choice" onClick={onClose}>
            {t('parts.dialog.cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const minutes = [10, 30, 60] as const

/** Each choice is a button, so that snoozing takes two taps. */
export function SnoozeDialog({ alerts, onClose }: DialogProps) {
  const { isSending, snooze } = useAlertResponses()
  const hasShow = useWatchState(({ shows }) => shows.length > 0)
  const choices: readonly { readonly text: string; readonly value: Snooze }[] = [
    ...minutes.map((count) => ({ text: formatShortDuration(count * 60_000), value: { minutes: count } })),
    { text: t('alerts.snooze.untilCleared'), value: { until: 'cleared' } },
    ...(hasShow ? [{ text: t('alerts.snooze.untilShowEnd'), value: { until: 'show_end' } } as const] : []),
  ]
  const press = async (value: Snooze) => {
    if (await snooze(alerts, value)) onClose()
  }
  return (
    <Dialog title={titleOf(alerts, 'snooze')} onClose={onClose}>
      <p className="dialog-text">{t('alerts.snooze.effect')}</p>
      <div className="snooze-choices">
        {choices.map(({ text, value }) => (
          <button key={text} type="button" className="choice" disabled={isSending} onClick={() => press(value)}>
            {text}
          </button>
        ))}
      </div>
      <DialogEnd onClose={onClose} />
    </Dialog>
  )
}
