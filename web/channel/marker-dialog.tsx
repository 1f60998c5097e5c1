/** Adds a marker to the history of a channel. */

import { useServices } from '../app/context.ts'
import { formatTime } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { TextField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'

interface MarkerDialogProps {
  readonly channelId: number
  /** Epoch seconds. */
  readonly at: number
  onAdded(): void
  onClose(): void
}

export function MarkerDialog({ channelId, at, onAdded, onClose }: MarkerDialogProps) {
  const { api } = useServices()
  const time = new Date(at * 1_000).toISOString()
  return (
    <FormDialog
      title={t('channel.markerAt', { time: formatTime(at * 1_000) })}
      action={t('channel.addMarker')}
      send={(values) =>
        api.write('POST', '/api/markers/', { time, channel_id: channelId, text: values.get('text') }, 'object')
      }
      onDone={() => {
        onAdded()
        onClose()
      }}
      onClose={onClose}
    >
      <TextField name="text" label={t('channel.markerText')} maxLength={500} required={true} />
    </FormDialog>
  )
}
