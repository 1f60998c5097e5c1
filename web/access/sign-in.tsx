/** The sign-in form. After sign-in, the page that the user originally requested is opened. */

import { pathOf } from '../../src/domain/pages.ts'
import { safeNext } from '../address.ts'
import { useServices } from '../context.ts'
import { t } from '../i18n.ts'
import { Field, PasswordField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useResource } from '../resource.ts'
import { AccessPage } from './access-page.tsx'
import { sendCredentials } from './send-credentials.ts'

export function SignIn() {
  const { mount, api } = useServices()
  const { body: setup } = useResource('/api/auth/setup', 'object')
  const next = safeNext(new URLSearchParams(location.search).get('next'), { origin: location.origin, mount })
  const send = (values: FormData) => sendCredentials(api, '/api/auth/login', Object.fromEntries(values))
  return (
    <AccessPage title={t('access.signIn.title')}>
      {setup?.needed !== true ? null : (
        <p>
          {t('access.signIn.setUpFirst')} <a href={mount + pathOf('set_up')}>{t('access.signIn.setUpLink')}</a>
        </p>
      )}
      <Form action={t('access.signIn.action')} send={send} onDone={() => location.replace(next ?? `${mount}/`)}>
        <Field
          name="username"
          label={t('access.signIn.username')}
          autoComplete="username"
          autoCapitalize="none"
          autoFocus={true}
        />
        <PasswordField name="password" label={t('access.signIn.password')} autoComplete="current-password" />
      </Form>
      {next === null ? null : (
        <p className="hint">
          {t('access.signIn.nextPage')} <code>{next}</code>
        </p>
      )}
      <details className="hint">
        <summary>{t('access.signIn.forgottenTitle')}</summary>
        <p>{t('access.signIn.forgotten')}</p>
        <code>micwatch create_admin --username … --reset</code>
      </details>
    </AccessPage>
  )
}
