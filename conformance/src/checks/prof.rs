//! Profiles and follows (contract 5.4).

use serde_json::json;

use super::{Account, Check, Ctx, Failure, Outcome, profile_path, same};
use crate::call::Call;
use crate::shape::Profile;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new("prof-001", "GET profile without token", anyone_reads_a_profile),
        Check::new("prof-002", "GET profile with token", a_stranger_is_not_followed),
        Check::new("prof-003", "follow; GET", following_shows_on_the_profile),
        Check::new("prof-004", "unfollow; GET", unfollowing_shows_on_the_profile),
        Check::new("prof-005", "GET unknown profile", an_unknown_profile_is_not_found),
        Check::new(
            "prof-006",
            "follow unknown name with token",
            an_unknown_name_cannot_be_followed,
        ),
        Check::new(
            "prof-007",
            "unfollow unknown name with token",
            an_unknown_name_cannot_be_unfollowed,
        ),
        Check::new(
            "prof-008",
            "follow twice, unfollow once; GET",
            following_twice_is_following_once,
        ),
        Check::new(
            "prof-009",
            "unfollow somebody not followed",
            unfollowing_a_stranger_is_fine,
        ),
        Check::new(
            "prof-010",
            "follow oneself; unfollow oneself; GET own profile",
            nobody_follows_oneself,
        ),
        Check::new(
            "prof-011",
            "A follows B; GET B as A, B, C, anonymous; GET A as B",
            following_is_one_way_and_about_the_viewer,
        ),
        Check::new(
            "prof-012",
            "GET and follow with the name in other letter case",
            profiles_are_found_in_any_letter_case,
        ),
        Check::new(
            "prof-013",
            "profile paths with %00, %FF, a blank and ü",
            names_in_paths_are_decoded_once_as_utf8,
        ),
        Check::new(
            "prof-014",
            "PUT bio and image, GET profile; PUT both null, GET profile",
            bio_and_image_show_on_the_profile,
        ),
        Check::new(
            "prof-015",
            "10 simultaneous follows by one caller; one unfollow",
            simultaneous_follows_are_one,
        ),
    ]
}

const MISSING: (u16, &str, &str) = (404, "profile", "not found");

/// The call that follows, not sent yet.
fn following(ctx: &Ctx, caller: &Account, name: &str) -> Call {
    let path = format!("{}/follow", profile_path(name));
    ctx.post(&path).token(&caller.token)
}

/// The call that unfollows, not sent yet.
fn unfollowing(ctx: &Ctx, caller: &Account, name: &str) -> Call {
    let path = format!("{}/follow", profile_path(name));
    ctx.delete(&path).token(&caller.token)
}

/// The profile of an account that has neither bio nor image.
fn plain(account: &Account, following: bool) -> Profile {
    Profile {
        username: account.username.clone(),
        bio: None,
        image: None,
        following,
    }
}

async fn is(call: Call, expected: Profile) -> Result<(), Failure> {
    let answer = call.expect(200).await?;
    answer.same("the profile", answer.profile()?, expected)?;
    Ok(())
}

async fn anyone_reads_a_profile(ctx: Ctx) -> Outcome {
    let ben = ctx.register().await?;
    is(ctx.get(&profile_path(&ben.username)), plain(&ben, false)).await
}

async fn a_stranger_is_not_followed(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let call = ctx.get(&profile_path(&ben.username)).token(&ann.token);
    is(call, plain(&ben, false)).await
}

async fn following_shows_on_the_profile(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let (bio, image) = ("Counts things.", "https://example.test/ben.png");
    ctx.update_user(&ben.token, json!({"bio": bio, "image": image}))
        .await?;
    let expected = Profile {
        bio: Some(bio.to_owned()),
        image: Some(image.to_owned()),
        ..plain(&ben, true)
    };
    is(following(&ctx, &ann, &ben.username), expected.clone()).await?;
    let call = ctx.get(&profile_path(&ben.username)).token(&ann.token);
    is(call, expected).await
}

async fn unfollowing_shows_on_the_profile(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    ctx.follow(&ann.token, &ben.username).await?;
    is(unfollowing(&ctx, &ann, &ben.username), plain(&ben, false)).await?;
    let call = ctx.get(&profile_path(&ben.username)).token(&ann.token);
    is(call, plain(&ben, false)).await
}

async fn not_found(call: Call) -> Outcome {
    let (status, key, message) = MISSING;
    call.refused(status, key, message).await?;
    Ok(())
}

async fn an_unknown_profile_is_not_found(ctx: Ctx) -> Outcome {
    not_found(ctx.get(&profile_path(&ctx.x()))).await
}

async fn an_unknown_name_cannot_be_followed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    not_found(following(&ctx, &ann, &ctx.x())).await
}

async fn an_unknown_name_cannot_be_unfollowed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    not_found(unfollowing(&ctx, &ann, &ctx.x())).await
}

async fn following_twice_is_following_once(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    for _ in 0..2 {
        is(following(&ctx, &ann, &ben.username), plain(&ben, true)).await?;
    }
    is(unfollowing(&ctx, &ann, &ben.username), plain(&ben, false)).await?;
    let call = ctx.get(&profile_path(&ben.username)).token(&ann.token);
    is(call, plain(&ben, false)).await
}

async fn unfollowing_a_stranger_is_fine(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    is(unfollowing(&ctx, &ann, &ben.username), plain(&ben, false)).await
}

async fn nobody_follows_oneself(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    following(&ctx, &ann, &ann.username)
        .refused(422, "profile", "can't follow yourself")
        .await?;
    is(unfollowing(&ctx, &ann, &ann.username), plain(&ann, false)).await?;
    let call = ctx.get(&profile_path(&ann.username)).token(&ann.token);
    is(call, plain(&ann, false)).await
}

async fn following_is_one_way_and_about_the_viewer(ctx: Ctx) -> Outcome {
    let (ann, ben, carl) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    ctx.follow(&ann.token, &ben.username).await?;
    let path = profile_path(&ben.username);
    is(ctx.get(&path).token(&ann.token), plain(&ben, true)).await?;
    is(ctx.get(&path).token(&ben.token), plain(&ben, false)).await?;
    is(ctx.get(&path).token(&carl.token), plain(&ben, false)).await?;
    is(ctx.get(&path), plain(&ben, false)).await?;
    let call = ctx.get(&profile_path(&ann.username)).token(&ben.token);
    is(call, plain(&ann, false)).await
}

async fn profiles_are_found_in_any_letter_case(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    for (typed, other) in [("Ben", "bEN"), ("Жук", "жУК")] {
        let x = ctx.x();
        let ben = ctx.register_as(&format!("{typed}{x}")).await?;
        let other = format!("{other}{}", x.to_uppercase());
        let call = ctx.get(&profile_path(&other)).token(&ann.token);
        is(call, plain(&ben, false)).await?;
        is(following(&ctx, &ann, &other), plain(&ben, true)).await?;
        let call = ctx.get(&profile_path(&other)).token(&ann.token);
        is(call, plain(&ben, true)).await?;
    }
    Ok(())
}

async fn names_in_paths_are_decoded_once_as_utf8(ctx: Ctx) -> Outcome {
    let call = ctx.get(&format!("/api/profiles/{}%00b", ctx.x()));
    call.refused(400, "request", "is malformed").await?;
    not_found(ctx.get("/api/profiles/%FF")).await?;
    let (blank, umlaut) = (ctx.x(), ctx.x());
    let ann = ctx.register_as(&format!("ann {blank}")).await?;
    let call = ctx.get(&format!("/api/profiles/ann%20{blank}"));
    is(call, plain(&ann, false)).await?;
    let uwe = ctx.register_as(&format!("ü{umlaut}")).await?;
    let call = ctx.get(&format!("/api/profiles/%C3%BC{umlaut}"));
    is(call, plain(&uwe, false)).await
}

async fn bio_and_image_show_on_the_profile(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let (bio, image) = ("Counts things.", "https://example.test/ann.png");
    for (bio, image) in [(Some(bio), Some(image)), (None, None)] {
        ctx.update_user(&ann.token, json!({"bio": bio, "image": image}))
            .await?;
        let expected = Profile {
            bio: bio.map(str::to_owned),
            image: image.map(str::to_owned),
            ..plain(&ann, false)
        };
        is(ctx.get(&profile_path(&ann.username)), expected).await?;
    }
    Ok(())
}

async fn simultaneous_follows_are_one(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let calls = (0..10).map(|_| following(&ctx, &ann, &ben.username)).collect();
    let answers = ctx.simultaneously(calls).await?;
    same("the number of answers", answers.len(), 10)?;
    for answer in answers {
        answer
            .status(200)?
            .same("the profile", answer.profile()?, plain(&ben, true))?;
    }
    is(unfollowing(&ctx, &ann, &ben.username), plain(&ben, false)).await?;
    let call = ctx.get(&profile_path(&ben.username)).token(&ann.token);
    is(call, plain(&ben, false)).await
}
