import { useState } from 'react'
import { alertKinds, isAlertKind } from '../../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../../src/contract/alerts.ts'
import type { Problem } from '../../app/api.ts'
import { useServices, useWatchState } from '../../app/context.ts'
import { formatShortDuration, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { serviceNow } from '../../app/service-time.ts'
import { ChannelField } from '../channels/channel-choice.tsx'
import { FormDialog } from '../dialogs/form-dialog.tsx'
import { Field, SelectField } from '../forms/field.tsx'

const hours = [0.5, 1, 3, 12, 24] as const
const hourMs = 3_600_000
/** Instead of a number of hours: the time is entered. */
const atTime = 'time'
/** Instead of the id of a channel: all channels of the receiver that the alert concerns. */
const wholeReceiver = 'receiver'

/** Starts with the channel of the alert, or the channels of its receiver, and its kind. */
export function SilenceDialog({ alert, onClose }: { alert?: AlertBody; onClose: () => void }) {
  const { api } = useServices()
  const groups = useWatchState((watchState) => watchState.groups)
  const receiver = useWatchState(({ receivers }) => receivers.get(alert?.receiver_id ?? -1))
  const [until, setUntil] = useState('1')
  const isAboutReceiver = alert !== undefined && alert.channel_id === null && receiver !== undefined
  const any = { value: '', text: t('parts.filters.any') }

  const idsOf = (value: string): number[] => {
    if (value === '') return []
    return value === wholeReceiver ? (receiver?.channels ?? []).map(({ id }) => id) : [Number(value)]
  }
  const check = (values: FormData): Problem | null =>
    ['channels', 'groups', 'kinds'].every((name) => values.get(name) === '')
      ? { kind: 'refused', detail: t('alerts.silence.nothing'), field: 'channels' }
      : until === atTime && values.get('until') === ''
        ? { kind: 'refused', detail: t('alerts.silence.noTime'), field: 'until' }
        : null
  const send = (values: FormData) => {
    const text = (name: string) => String(values.get(name) ?? '')
    const now = serviceNow()
    const kinds = alertKinds.filter((kind) => kind === text('kinds'))
    const end = until === atTime ? new Date(text('until')) : new Date(now + Number(until) * hourMs)
    return api.write(
      'POST',
      '/api/silences/',
      {
        ...{ channels: idsOf(text('channels')), groups: idsOf(text('groups')), kinds },
        ...{ until: end.toISOString(), reason: text('reason').trim() },
      },
      'object',
    )
  }
  return (
    <FormDialog
      title={t('alerts.silence.title')}
      action={t('alerts.silence.action')}
      check={check}
      send={send}
      done={() => t('alerts.silence.done')}
      onClose={onClose}
    >
      <p className="dialog-text">{t('alerts.silence.effect')}</p>
      <ChannelField
        name="channels"
        label={t('alerts.silence.channel')}
        initial={isAboutReceiver ? wholeReceiver : String(alert?.channel_id ?? '')}
        others={[
          any,
          ...(isAboutReceiver
            ? [{ value: wholeReceiver, text: t('alerts.silence.receiver', { name: plainText(receiver.name) }) }]
            : []),
        ]}
      />
      <div className="field-columns">
        <SelectField
          name="groups"
          label={t('alerts.silence.group')}
          options={[any, ...groups.map(({ id, title }) => ({ value: String(id), text: title }))]}
        />
        <SelectField
          name="kinds"
          label={t('alerts.filters.kind')}
          defaultValue={alert !== undefined && isAlertKind(alert.kind) ? alert.kind : ''}
          options={[any, ...alertKinds.map((kind) => ({ value: kind, text: t(`alerts.kinds.${kind}`) }))]}
        />
        <SelectField
          name="duration"
          label={t('alerts.silence.duration')}
          value={until}
          onChange={({ target }) => setUntil(target.value)}
          options={[
            ...hours.map((count) => ({ value: String(count), text: formatShortDuration(count * hourMs) })),
            { value: atTime, text: t('alerts.silence.atTime') },
          ]}
        />
        {until === atTime ? (
          <Field name="until" label={t('alerts.silence.until')} type="datetime-local" required={true} />
        ) : null}
      </div>
      <Field
        name="reason"
        label={t('alerts.silence.reason')}
        hint={t('alerts.silence.reasonHint')}
        maxLength={500}
        required={false}
      />
    </FormDialog>
  )
}
