// Runs a provider whose users are all that log in, with any password. Arguments: port, redirect URI, client, secret.
import { Provider } from 'oidc-provider';

const [port, redirectUri, clientId, clientSecret] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
    },
  ],
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: true } },
  claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
  cookies: { keys: ['of the tests'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, groups: ['kernel', '/staff'] }),
  }),
});
provider.listen(Number(port), '127.0.0.1');
