-- What users and tokens have become, as building the read models anew would make it: users have roles, and the
-- digest of a token is in the log alone.

UPDATE read.documents SET document = '{"roles": null, "email": null}' WHERE kind = 'user';
UPDATE read.documents SET document = (document - 'digest') || '{"expires_at": null}' WHERE kind = 'token';
