import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Dialog, DialogEnd } from '../parts/dialogs/dialog.tsx'
import { QrShape } from '../parts/qr-code.tsx'
import { ntfyAddresses } from './services.ts'

export function SubscribeDialog({ notifier, onClose }: { notifier: NotificationChannelBody; onClose(): void }) {
  const { app, web } = ntfyAddresses(notifier.config)
  return (
    <Dialog title={t('notifications.subscribe.title', { name: plainText(notifier.name) })} onClose={onClose}>
      <div className="dialog-text">
        <p>{t('notifications.subscribe.android')}</p>
        <p>{t('notifications.subscribe.others')}</p>
      </div>
      <div className="qr">
        <QrShape content={app} label={t('notifications.subscribe.qr', { address: app })} />
        <a className="qr-address" href={web} rel="noreferrer">
          {web}
        </a>
      </div>
      <DialogEnd text={t('parts.dialog.close')} onClose={onClose} />
    </Dialog>
  )
}
